/** A moment in whole seconds since 1970, rounded down: what times are compared with. */
export function secondOf(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}

/** The end of so many seconds. Zero is now; anything longer is rounded up, so that it never ends early. */
export function endOf(moment: Date, seconds: number): number {
  return seconds <= 0 ? secondOf(moment) : Math.ceil((moment.getTime() + seconds * 1000) / 1000);
}
