// node drizzle-migrate.mjs <database> <folder>: Drizzle's own migrator, as an application calls it when it starts.
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';

const [, , file, migrationsFolder] = process.argv;
migrate(drizzle(new Database(file)), { migrationsFolder });
