import { describe, expect, it } from 'vitest';
import { MYSQL, POSTGRES, type Protocol, REDIS } from '../src/cuts/protocols.js';

/** The lengths of the messages in the bytes, however they arrive. */
function lengths(protocol: Protocol, bytes: Buffer, isFirst = false): number[] {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const message = protocol.first(bytes.subarray(at), isFirst && at === 0);
    if (message === null) break;
    found.push(message.length);
    at += message.length;
  }
  return found;
}

const postgres = (type: string, body: string) => {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(type);
  bytes.writeUInt32BE(4 + body.length, 1);
  bytes.write(body, 5);
  return bytes;
};

describe('messages', () => {
  it('of Postgres are told apart, and those with an answer known', () => {
    const bytes = Buffer.concat([postgres('P', 'SELECT 1'), postgres('S', ''), postgres('Q', 'BEGIN')]);
    expect(lengths(POSTGRES, bytes)).toEqual([13, 5, 10]);
    expect(lengths(POSTGRES, bytes.subarray(0, 14))).toEqual([13]);
    expect(POSTGRES.first(bytes, false)?.isAnswered).toBe(false);
    expect(POSTGRES.first(bytes.subarray(13), false)?.isAnswered).toBe(true);
    const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);
    expect(lengths(POSTGRES, startup, true)).toEqual([8]);
    expect(POSTGRES.isAnswer(Buffer.from('C....Z....I'))).toBe(true);
    expect(POSTGRES.isAnswer(Buffer.from('1....'))).toBe(false);
  });

  it('of MySQL are told apart, and those with an answer known', () => {
    const query = Buffer.from([2, 0, 0, 0, 3, 65]);
    const close = Buffer.from([5, 0, 0, 0, 0x19, 1, 0, 0, 0]);
    expect(lengths(MYSQL, Buffer.concat([query, close, query.subarray(0, 5)]))).toEqual([6, 9]);
    expect(MYSQL.first(query, false)?.isAnswered).toBe(true);
    expect(MYSQL.first(close, false)?.isAnswered).toBe(false);
  });

  it('of Redis are told apart, whatever is in them', () => {
    const ping = Buffer.from('*1\r\n$4\r\nPING\r\n');
    const set = Buffer.from('*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n*1\r\n');
    expect(lengths(REDIS, Buffer.concat([ping, set, ping]))).toEqual([ping.length, set.length, ping.length]);
    expect(lengths(REDIS, set.subarray(0, -1))).toEqual([]);
  });
});
