import { openQueue } from './queue.js';

async function main(url: string): Promise<void> {
  const { queue, close } = await openQueue(url);
  try {
    await queue.push('greet', { name: 'Ada' });
  } finally {
    await close();
  }
}

main(process.env.QUEUE_URL ?? '').catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
