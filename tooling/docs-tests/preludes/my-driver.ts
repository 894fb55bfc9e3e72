import type { QueueDriver, QueueLeases } from '@q/core';
import type { DriverOptions } from '@q/core/driver-kit';

interface MyDriver extends QueueDriver, QueueLeases {}
declare const MyDriver: new (url: string, options: DriverOptions) => MyDriver;
declare function emptyDatabase(): Promise<string>;
declare function dropDatabase(url: string): Promise<void>;
