export { Journal } from './journal.js';
export { JournalDriver } from './journal-driver.js';
