/** One line of progress: when, who, what. */
export function say(who: string, what: string): void {
  console.log(`${process.uptime().toFixed(1).padStart(5)}s  ${who.padEnd(9)} ${what}`);
}
