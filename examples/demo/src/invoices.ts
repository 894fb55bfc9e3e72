import type Database from 'better-sqlite3';
import type { ShopQueue } from './queue.js';

export interface Invoice {
  readonly number: number;
  readonly customer: string;
  readonly amount: number;
}

const CREDIT_LIMIT = 5_000;

export function createInvoiceTable(db: Database.Database): void {
  db.exec('CREATE TABLE invoices (number INTEGER PRIMARY KEY, customer TEXT NOT NULL, amount INTEGER NOT NULL)');
}

/**
 * The invoice and the job that mails it, in one transaction: both are written, or neither is. Whatever is thrown inside
 * takes the job back together with the invoice.
 */
export function writeInvoice(db: Database.Database, queue: ShopQueue, invoice: Invoice): void {
  const write = db.transaction(() => {
    db.prepare('INSERT INTO invoices VALUES (:number, :customer, :amount)').run(invoice);
    queue.pushSync('send-invoice', { number: invoice.number });
    checkCredit(db, invoice);
  });
  write();
}

export function readInvoice(db: Database.Database, number: number): Invoice {
  const invoice = db.prepare<[number], Invoice>('SELECT * FROM invoices WHERE number = ?').get(number);
  if (invoice === undefined) throw new Error(`There is no invoice ${number}`);
  return invoice;
}

/** The numbers of all invoices that were committed. */
export function invoiceNumbers(db: Database.Database): number[] {
  return db.prepare<[], number>('SELECT number FROM invoices ORDER BY number').pluck().all();
}

/** One customer's mailbox is busy at the first mail; the mail server knows it by its name. */
export function customers(number: number): string {
  return number === 11 ? 'busy@customers.example' : `customer-${number}@customers.example`;
}

function checkCredit(db: Database.Database, { number, customer }: Invoice): void {
  const open = db
    .prepare<[string], number>('SELECT sum(amount) FROM invoices WHERE customer = ?')
    .pluck()
    .get(customer);
  if ((open ?? 0) > CREDIT_LIMIT) throw new Error(`invoice ${number} is over the credit limit of ${CREDIT_LIMIT}`);
}
