// A registry as an application writes it: every form an entry may have, without one annotation that is not a payload's.
import { defineHandlers, type Handler, handler, type Job } from '../../src/index.js';

// An interface: it has no index signature, and needs none.
interface Invoice {
  invoiceId: number;
  note?: string;
}

class SendInvoice implements Handler<Invoice> {
  async handle({ invoiceId }: Invoice, job: Job<Invoice>) {
    invoiceId.toFixed();
    job.release(3);
  }
}

interface Mailer {
  send(): Promise<{ id: string }>;
}

export class SendStatement {
  constructor(readonly mailer: Mailer) {}
  handle(payload: { customer: string }) {
    payload.customer.trim();
    return this.mailer.send(); // a value nobody keeps
  }
}

declare const mailer: Mailer;

export const handlers = defineHandlers({
  'send-invoice': SendInvoice,
  'send-statement': () => new SendStatement(mailer),
  rebuild: async () => new (await import('./rebuild.js')).Rebuild(),
  ping: handler(async ({ url }: { url: string }, job) => `${url}${job.attempts}`),
});
