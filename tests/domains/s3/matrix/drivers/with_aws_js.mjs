// AWS SDK for JavaScript v3 with its defaults. Packages are found beside the working folder.
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';

const from = createRequire(`${process.cwd()}/package.json`);
const load = async (name) => import(pathToFileURL(from.resolve(name)).href);
const s3 = await load('@aws-sdk/client-s3');
const { Upload } = await load('@aws-sdk/lib-storage');
const { getSignedUrl } = await load('@aws-sdk/s3-request-presigner');
const { createPresignedPost } = await load('@aws-sdk/s3-presigned-post');

const Bucket = process.env.S3_BUCKET;
const client = new s3.S3Client({ endpoint: process.env.S3_URL, forcePathStyle: true });

const verbs = {
  put: async (path, Key) => {
    const { size } = await stat(path);
    const Body = size ? createReadStream(path) : '';
    await new Upload({ client, params: { Bucket, Key, Body } }).done();
  },
  get: async (Key, path) => {
    const found = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
    await pipeline(found.Body, createWriteStream(path));
  },
  list: async (Prefix) => {
    const keys = [];
    for await (const page of s3.paginateListObjectsV2({ client }, { Bucket, Prefix }))
      keys.push(...(page.Contents ?? []).map((one) => one.Key));
    return keys;
  },
  delete: async (Key) => {
    await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }] } }));
  },
  copy: async (source, Key) => {
    const CopySource = `${Bucket}/${encodeURIComponent(source)}`;
    await client.send(new s3.CopyObjectCommand({ Bucket, Key, CopySource }));
  },
  presign: (verb, Key) => {
    const Command = verb === 'PUT' ? s3.PutObjectCommand : s3.GetObjectCommand;
    return getSignedUrl(client, new Command({ Bucket, Key }), { expiresIn: 300 });
  },
  presign_form: (Key) => createPresignedPost(client, { Bucket, Key, Expires: 300 }),
};

const [verb, ...rest] = process.argv.slice(2);
const found = await verbs[verb](...rest);
if (found !== undefined) console.log(JSON.stringify(found));
