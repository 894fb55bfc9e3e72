import { execFile } from 'node:child_process';

/** What a program of a stranger's may know of this machine: where things are, and how to reach a registry. No tokens, no settings of the runner, nothing of CI. */
const KEPT = /^(path|home|tmpdir|lang|lc_\w+|docker_\w+|ssl_cert_\w+|node_extra_ca_certs|(https?|no)_proxy)$/i;
const LONGEST_MS = 1_500_000;

/** Runs a program to its end and gives what it printed to standard output. Rejects, with all that it printed, if it ends badly or takes longer than 25 minutes. */
export function run(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program = '', ...args] = command;
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name)));
  const options = { cwd, env: { ...kept, NO_COLOR: '1', ...env }, timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const how = error.killed ? `was killed after ${LONGEST_MS / 1000} s` : `ended with ${error.code}`;
      reject(new Error(`${command.join(' ')}\n${how}:\n${stdout}${stderr}`));
    });
  });
}
