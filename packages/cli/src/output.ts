import type { Writable } from 'node:stream';
import pc from 'picocolors';

/** As much of a process's stdout or stderr as is used here. */
export type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

// A terminal that does not tell its size tells 0.
const DEFAULT_ROWS = 24;
const DEFAULT_COLUMNS = 80;

const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

type Colors = ReturnType<typeof pc.createColors>;

/**
 * One of the two streams of the command. A reader that goes away (`q failed | head`) is not an error of the command's:
 * what is written after that is dropped.
 */
export class Output {
  readonly isTerminal: boolean;
  /** Colours on a terminal, and nothing at all elsewhere. */
  readonly colors: Colors;
  readonly #stream: Stream;
  #failure: NodeJS.ErrnoException | null = null;
  #onGone: () => void = () => {};

  constructor(stream: Stream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.isTerminal = stream.isTTY === true;
    this.colors = pc.createColors(this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb');
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isFirst = this.#failure === null;
      this.#failure ??= error;
      if (isFirst) this.#onGone();
    });
  }

  /** Why nothing more can be written, or null while it can. A reader that went away has the code `EPIPE`. */
  get failure(): NodeJS.ErrnoException | null {
    return this.#failure;
  }

  /** How wide the terminal is; null where there is none. */
  get columns(): number | null {
    return this.isTerminal ? this.#stream.columns || DEFAULT_COLUMNS : null;
  }

  /** Calls back when the reader goes away. */
  onGone(listener: () => void): void {
    this.#onGone = listener;
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  write(text: string): void {
    if (this.#failure === null) this.#stream.write(text);
  }

  /** Puts the text where the last one was, as much of it as the terminal has room for. Elsewhere: below the last one. */
  redraw(text: string): void {
    const lines = text.split('\n').slice(0, (this.#stream.rows || DEFAULT_ROWS) - 1);
    const screen = `${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
    this.write(this.isTerminal ? screen : `${text}\n`);
  }

  /** Resolves when everything written has been taken: a pipe takes 64 KB, and `process.exit` waits for no reader. */
  flush(): Promise<void> {
    if (this.#failure !== null) return Promise.resolve();
    return new Promise((resolve) => this.#stream.write('', () => resolve()));
  }
}

// Control characters, and those that turn the direction of a line.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text from the store or from an error, as it may reach a terminal: a name or a message can hold what a terminal would
 * obey. `'lines'` keeps line breaks and tabs.
 */
export function printable(text: string, shape: 'line' | 'lines' = 'line'): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (shape === 'lines' && (character === '\n' || character === '\t')) return character;
    return escaped(character);
  });
}

/** JSON on one line, in which nothing is left that a terminal would obey. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escaped);
}

/** At most `width` characters. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length > width ? `${characters.slice(0, Math.max(0, width - 1)).join('')}…` : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
