import { defineHandlers, type Handler, type Job } from '@q/core';
import type Database from 'better-sqlite3';
import type { Transporter } from 'nodemailer';
import { readInvoice } from './invoices.js';
import type { InvoiceJob, JobName, StatementJob } from './queue.js';

const FROM = 'shop@shop.example';

/** "Mailbox busy": the SMTP server asks to be tried again. */
const BUSY = 450;

/**
 * Delivery is at least once, so a mail may be sent twice: by a worker that dies before it could record the job, and by the
 * one that takes the job over. Its Message-ID comes from the invoice, so whoever gets both knows that they are one.
 */
class SendInvoice implements Handler<InvoiceJob> {
  readonly #db: Database.Database;
  readonly #mailer: Transporter;

  constructor(db: Database.Database, mailer: Transporter) {
    this.#db = db;
    this.#mailer = mailer;
  }

  async handle({ number }: InvoiceJob, job: Job<InvoiceJob>): Promise<void> {
    const { customer, amount } = readInvoice(this.#db, number);
    try {
      await this.#mailer.sendMail({
        messageId: `<invoice-${number}@shop.example>`,
        from: FROM,
        to: customer,
        subject: `Invoice ${number}`,
        text: `Please pay ${amount}.`,
      });
    } catch (error) {
      if (!isBusy(error)) throw error;
      job.release(1); // "not now" is no failure: the job comes back in a second
    }
  }
}

class SendStatement implements Handler<StatementJob> {
  readonly #mailer: Transporter;

  constructor(mailer: Transporter) {
    this.#mailer = mailer;
  }

  async handle({ month }: StatementJob): Promise<void> {
    await this.#mailer.sendMail({
      messageId: `<statement-${month}@shop.example>`,
      from: FROM,
      to: 'closed@bookkeeper.example',
      subject: `Statement for ${month}`,
      text: 'All of it.',
    });
  }
}

/** The registry of the workers: a factory each, called for every attempt. `satisfies`: no name is forgotten. */
export function handlersFor(db: Database.Database, mailer: Transporter) {
  return defineHandlers({
    'send-invoice': () => new SendInvoice(db, mailer),
    'send-statement': () => new SendStatement(mailer),
  } satisfies Record<JobName, unknown>);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'responseCode' in error && error.responseCode === BUSY;
}
