/** The rows of the first table after a heading, without its header. */
export function tableAfter(page: string, heading: string): string[][] {
  const lines = page.slice(page.indexOf(`\n${heading}\n`)).split('\n');
  const begin = lines.findIndex((line) => line.startsWith('| ---'));
  const rows = lines.slice(begin + 1);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
