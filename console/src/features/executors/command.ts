/** The command with which a machine becomes a worker; pasted into a shell, it works. */
export interface Place {
  url: string;
  token: string;
  kinds: readonly string[];
  model: string | null;
}

export const SAMPLE_KIND = 'x.integrator-demo.lane-report';
const SAMPLE_RESULT = '{"lane": job.input["lane"], "shipments": 3, "on_time": 1.0, "remarks": "all quiet"}';

export function commandFor({ url, token, kinds, model }: Place): string {
  const served = kinds.length ? kinds : [SAMPLE_KIND];
  const options = [
    `--url ${quoted(url)}`,
    ...served.map((kind) => `--kind ${quoted(`${kind}=jobs:run`)}`),
    ...(model ? [`--model ${quoted(model)}`] : []),
  ];
  return `pip install atrium-worker
cat > jobs.py <<'END'
def run(job):
    return ${served[0] === SAMPLE_KIND ? SAMPLE_RESULT : '{}'}
END
ATRIUM_TOKEN=${quoted(token)} atrium-worker ${options.join(' \\\n  ')}`;
}

const quoted = (text: string): string => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
