// node dist/main.js arrows|text: prints what is wrong, one line each, from the root of the workspace. Exit code 1 if there is any.
import { checkArrows } from './arrows.js';
import { checkCommittedText } from './committed-text.js';
import type { Finding } from './finding.js';

const CHECKS: Readonly<Record<string, (root: string) => Finding[]>> = { arrows: checkArrows, text: checkCommittedText };

const check = CHECKS[process.argv[2] ?? ''];
if (check === undefined) {
  console.error(`Say which check: ${Object.keys(CHECKS).join(' or ')}.`);
  process.exit(2);
}
const findings = check(process.cwd());
for (const { where, what } of findings) console.log(`${where}: ${what}`);
process.exitCode = findings.length > 0 ? 1 : 0;
