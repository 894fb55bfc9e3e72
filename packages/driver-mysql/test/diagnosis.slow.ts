import { describeDiagnosis } from './diagnosis.js';
import { SERVERS } from './servers.js';

for (const server of SERVERS) if (server.name !== 'MariaDB') describeDiagnosis(server);
