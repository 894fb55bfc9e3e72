import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerAddress, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { say } from './say.js';

export interface Mail {
  readonly messageId: string;
  /** Who sent it, by the name that it greeted the server with. */
  readonly sender: string;
}

type Answer = (error?: SmtpRefusal | null) => void;

/** A real SMTP server on a free port of this machine. Some of its mailboxes are not in order. */
export class MailServer {
  /** All mails that were delivered, in order, also those that were delivered before. */
  readonly mails: Mail[] = [];
  readonly #server: SMTPServer;
  /** For the test of the demo alone: the mail of this invoice is accepted and lost. */
  readonly #loses: string;
  readonly #wasBusy = new Set<string>();
  #hold: Hold | null = null;

  constructor({ loses }: { readonly loses: string | undefined }) {
    this.#loses = `<invoice-${loses}@shop.example>`;
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      closeTimeout: 500,
      onRcptTo: (mailbox, _session, answer) => answer(this.#refusal(mailbox)),
      // A client that is killed in the middle of a mail: nothing was delivered, and nobody is there for the answer.
      onData: (stream, session, answer) => void this.#take(stream, session, answer).catch(answer),
    });
    // A client that is killed resets its connections.
    this.#server.on('error', () => {});
  }

  /** Resolves to the port. */
  async listen(): Promise<number> {
    const listening = this.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return (listening.address() as AddressInfo).port; // it listens on TCP
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }

  /**
   * From now on nobody's mail is answered, until `answerAgain`. Resolves to the mails that `sender` waits for an answer
   * to, as soon as there are `count`.
   */
  async holdUntil(sender: string, count: number): Promise<readonly Mail[]> {
    return new Promise((resolve) => {
      this.#hold = { sender, count, mails: [], resolve, others: [] };
    });
  }

  /** Answers those that wait, all but the sender that was being waited for. */
  answerAgain(): void {
    const others = this.#hold?.others ?? [];
    this.#hold = null;
    for (const deliver of others) deliver();
  }

  async #take(stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer): Promise<void> {
    const messageId = /^Message-ID: (\S+)/im.exec(await text(stream))?.[1] ?? '';
    const mail: Mail = { messageId, sender: session.hostNameAppearsAs };
    const deliver = () => {
      this.#deliver(mail);
      answer(null);
    };
    const hold = this.#hold;
    if (hold === null) deliver();
    else if (mail.sender === hold.sender) this.#keepWaiting(hold, mail);
    else hold.others.push(deliver);
  }

  /** The first is delivered and the others are not. Whoever waits for the answer cannot know which. */
  #keepWaiting(hold: Hold, mail: Mail): void {
    if (hold.mails.length === 0) this.#deliver(mail);
    else say('mail', `${mail.messageId} from ${mail.sender}: not delivered yet`);
    hold.mails.push(mail);
    if (hold.mails.length === hold.count) hold.resolve(hold.mails);
  }

  #deliver(mail: Mail): void {
    say('mail', `${mail.messageId} from ${mail.sender}`);
    if (mail.messageId !== this.#loses) this.mails.push(mail);
  }

  #refusal({ address }: SMTPServerAddress): SmtpRefusal | null {
    if (address.startsWith('closed@')) return new SmtpRefusal(550, `No mailbox ${address}`);
    if (!address.startsWith('busy@') || this.#wasBusy.has(address)) return null;
    this.#wasBusy.add(address);
    return new SmtpRefusal(450, `Mailbox ${address} is busy, try again`);
  }
}

interface Hold {
  readonly sender: string;
  readonly count: number;
  readonly mails: Mail[];
  readonly resolve: (mails: readonly Mail[]) => void;
  readonly others: (() => void)[];
}

class SmtpRefusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}
