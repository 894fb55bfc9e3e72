/** `YYYY-MM-DD HH:MM:SS`, UTC, as everywhere in q: what `q forget --before` takes can be copied from what is shown. */
export function shownMoment(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}
