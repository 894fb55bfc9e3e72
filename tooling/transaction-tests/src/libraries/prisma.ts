import { fileURLToPath } from 'node:url';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { fromPrisma as fromPrismaOnMysql } from '@q/driver-mysql/prisma';
import { fromPrisma as fromPrismaOnPg } from '@q/driver-pg/prisma';
import type { Application, Inside } from '../application.js';

export const PRISMA_PROVIDERS = ['postgresql', 'mysql'] as const;

/** Where the client for a provider is generated. */
export function prismaFolder(provider: (typeof PRISMA_PROVIDERS)[number]): string {
  return fileURLToPath(new URL(`../../dist/prisma-${provider}`, import.meta.url));
}

/** What of a generated client is used: it is made when the tests start, so its types are not there to be compiled with. */
interface Client extends Transaction {
  $transaction<T>(work: (tx: Transaction) => Promise<T>, options?: object): Promise<T>;
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
}

interface Transaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(query: string, ...values: unknown[]): PromiseLike<number>;
  $transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  readonly note: { create(what: { readonly data: { readonly text: string } }): Promise<unknown> };
}

// The time a transaction may take is the machine's business here.
const PATIENT = { maxWait: 60_000, timeout: 60_000 };

export async function onPostgres(connectionString: string) {
  return application(await clientOf('postgresql', new PrismaPg({ connectionString })), fromPrismaOnPg);
}

export async function onMysql(url: string) {
  const adapter = new PrismaMariaDb(url.replace(/^mysql:/, 'mariadb:'));
  return application(await clientOf('mysql', adapter), fromPrismaOnMysql);
}

function application<Tx>(prisma: Client, fromPrisma: (tx: Omit<Transaction, '$connect'>) => Tx): Application<Tx> {
  const insideOf = (tx: Transaction): Inside<Tx> => ({
    note: (text) => tx.note.create({ data: { text } }),
    tx: () => fromPrisma(tx),
    nested: (work) => tx.$transaction((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => prisma.$transaction((tx) => work(insideOf(tx)), PATIENT),
    rolledBack: null,
    mistaken: () => fromPrisma(prisma),
    [Symbol.asyncDispose]: () => prisma.$disconnect(),
  };
}

async function clientOf(provider: (typeof PRISMA_PROVIDERS)[number], adapter: object): Promise<Client> {
  const module: { readonly PrismaClient: new (options: { readonly adapter: object }) => Client } = await import(
    `${prismaFolder(provider)}/client.ts`
  );
  return new module.PrismaClient({ adapter });
}
