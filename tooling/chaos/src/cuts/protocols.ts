/** How a client's messages are told apart, as far as a relay needs it to cut between two of them. */
export interface Protocol {
  /** The first message in the bytes, or null while it is not whole. `isFirst`: nothing was sent on the connection before. */
  first(bytes: Buffer, isFirst: boolean): { readonly length: number; readonly isAnswered: boolean } | null;
  /** Whether the server has answered, by the bytes that it sent since. */
  isAnswer(bytes: Buffer): boolean;
}

const STATEMENT_CLOSE = 0x19;
const QUIT = 0x01;

/** Every message of the frontend protocol; those that the server answers are Query and Sync, with ReadyForQuery at the end. */
export const POSTGRES: Protocol = {
  first(bytes, isFirst) {
    const head = isFirst ? 0 : 1;
    if (bytes.length < head + 4) return null;
    const length = head + bytes.readUInt32BE(head);
    const type = isFirst ? '' : String.fromCharCode(bytes[0] ?? 0);
    return bytes.length < length ? null : { length, isAnswered: type === 'Q' || type === 'S' };
  },
  isAnswer: (bytes) => bytes.length >= 6 && bytes[bytes.length - 6] === 'Z'.charCodeAt(0),
};

/** Every packet; those that begin a command have number 0. */
export const MYSQL: Protocol = {
  first(bytes) {
    if (bytes.length < 5) return null;
    const length = 4 + bytes.readUIntLE(0, 3);
    const isCommand = bytes[3] === 0 && bytes[4] !== STATEMENT_CLOSE && bytes[4] !== QUIT;
    return bytes.length < length ? null : { length, isAnswered: isCommand };
  },
  isAnswer: (bytes) => bytes.length > 0,
};

/** Every command: a list of texts, each with its length. */
export const REDIS: Protocol = {
  first(bytes) {
    let at = lineEnd(bytes, 0);
    if (at === -1) return null;
    const words = Number(bytes.toString('latin1', 1, at - 2));
    for (let word = 0; word < words; word += 1) {
      const end = lineEnd(bytes, at);
      if (end === -1) return null;
      at = end + Number(bytes.toString('latin1', at + 1, end - 2)) + 2;
    }
    return bytes.length < at ? null : { length: at, isAnswered: true };
  },
  isAnswer: (bytes) => bytes.length > 0,
};

function lineEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf('\r\n', from, 'latin1');
  return end === -1 ? -1 : end + 2;
}
