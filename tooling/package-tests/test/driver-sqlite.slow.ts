import { describeInstalls } from '../src/installs.js';
import { STORES } from '../src/stores.js';

describeInstalls(STORES.sqlite);
