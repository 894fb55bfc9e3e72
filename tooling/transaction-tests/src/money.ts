/** Two accounts, and what is moved between them. */
export interface Transfer {
  readonly number: number;
  readonly from: 1 | 2;
  readonly amount: number;
}

export const OPENING_BALANCE = 1_000_000;

/** Nothing in them keeps a transfer from being made twice: that it is not is what is to be shown. */
export const TABLES = [
  'CREATE TABLE accounts (id integer NOT NULL PRIMARY KEY, balance integer NOT NULL)',
  'CREATE TABLE transfers (number integer NOT NULL, attempt integer NOT NULL)',
  `INSERT INTO accounts VALUES (1, ${OPENING_BALANCE}), (2, ${OPENING_BALANCE})`,
];

/** The statements of a transfer, the accounts in the order of their ids, so that two transfers do not lock each other out. */
export function sqlOf({ number, from, amount }: Transfer, attempt: number): string[] {
  const change = from === 1 ? -amount : amount;
  return [
    `UPDATE accounts SET balance = balance + (${change}) WHERE id = 1`,
    `UPDATE accounts SET balance = balance - (${change}) WHERE id = 2`,
    `INSERT INTO transfers VALUES (${number}, ${attempt})`,
  ];
}

/** Different amounts, so that no two mistakes make up for each other. */
export function transfers(count: number): Transfer[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    from: index % 3 === 0 ? 2 : 1,
    amount: index * index + 1,
  }));
}
