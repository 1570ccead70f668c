/** Ready-made configuration for the clients people have. */
export interface Access {
  endpoint: string;
  bucket: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

/** Stands for a secret that was shown once and is not known any more. */
export const HIDDEN = '…';

export const CLIENTS = {
  'aws-cli': ({ endpoint, bucket, region, access_key_id, secret_access_key }: Access) => `export AWS_ACCESS_KEY_ID='${access_key_id}'
export AWS_SECRET_ACCESS_KEY='${secret_access_key}'
export AWS_DEFAULT_REGION='${region}'
export AWS_ENDPOINT_URL_S3='${endpoint}'
aws s3 ls 's3://${bucket}/'`,

  rclone: ({ endpoint, bucket, region, access_key_id, secret_access_key }: Access) => `rclone config create atrium s3 provider=Other \\
  endpoint='${endpoint}' region='${region}' force_path_style=true \\
  access_key_id='${access_key_id}' secret_access_key='${secret_access_key}'
rclone ls 'atrium:${bucket}'`,

  s3cmd: ({ endpoint, bucket, region, access_key_id, secret_access_key }: Access) => `# ~/.s3cfg
[default]
access_key = ${access_key_id}
secret_key = ${secret_access_key}
bucket_location = ${region}
host_base = ${hostOf(endpoint)}
host_bucket = ${hostOf(endpoint)}
use_https = ${endpoint.startsWith('https:') ? 'True' : 'False'}

# then: s3cmd ls s3://${bucket}/`,

  boto3: ({ endpoint, bucket, region, access_key_id, secret_access_key }: Access) => `import boto3
from botocore.config import Config

s3 = boto3.client(
    "s3",
    endpoint_url="${endpoint}",
    region_name="${region}",
    aws_access_key_id="${access_key_id}",
    aws_secret_access_key="${secret_access_key}",
    config=Config(s3={"addressing_style": "path"}),
)
print(s3.list_objects_v2(Bucket="${bucket}").get("KeyCount"))`,
} as const satisfies Record<string, (access: Access) => string>;

export type Client = keyof typeof CLIENTS;

/** The address without its scheme, as s3cmd wants it. */
const hostOf = (endpoint: string): string => endpoint.replace(/^https?:\/\//, '').replace(/\/$/, '');
