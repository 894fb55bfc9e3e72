// Starts a server, says where it is, and ends without closing it.
import { startPostgres } from '@q/servers';
import pg from 'pg';

const server = await startPostgres({ own: true });
const client = new pg.Client(server.url);
client.on('error', () => {});
await client.connect();
const { rows } = await client.query("SELECT current_setting('data_directory') AS folder");
process.stdout.write(`${server.url}\n${rows[0].folder}\n`, () => {
  if (process.argv[2] === 'SIGKILL') process.kill(process.pid, 'SIGKILL');
  else process.exit(3);
});
