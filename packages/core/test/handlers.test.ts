import { describe, expect, it } from 'vitest';
import { checkQueueable, defineHandlers, handler, job, resolveHandler } from '../src/handlers.js';
import { type Refusal, refusal, rejection } from './fixtures.js';

class SendInvoice {
  handle() {
    return 'sent';
  }
}

class Inherited extends SendInvoice {}

class WithField {
  readonly handle = () => 'by field';
}

class InheritedField extends WithField {}

class WithGetter {
  readonly #run = () => 'by getter';
  get handle() {
    return this.#run;
  }
}

const method = 'handle';
class WithComputed {
  [method]() {
    return 'computed';
  }
}

class NoHandler {
  run() {}
}

class NoHandlerEither extends NoHandler {}

/** As code for ES5 was written, or is compiled. */
function Es5() {}
Es5.prototype.handle = () => 'es5';

const ready = { handle: () => 'ready' };

function aThenable(made: unknown): object {
  // biome-ignore lint/suspicious/noThenProperty: that it has one is the case
  return { then: (resolve: (made: unknown) => void) => resolve(made) };
}

const good: [string, unknown, unknown][] = [
  ['a class', SendInvoice, 'sent'],
  ['a class that inherits its method', Inherited, 'sent'],
  ['a class with a field', WithField, 'by field'],
  ['a class that inherits its field', InheritedField, 'by field'],
  ['a class with a getter', WithGetter, 'by getter'],
  ['a class with a computed name', WithComputed, 'computed'],
  [
    'an anonymous class',
    (() =>
      class {
        handle() {
          return 'anonymous';
        }
      })(),
    'anonymous',
  ],
  ['a function with a method on its prototype', Es5, 'es5'],
  ['a ready handler', ready, 'ready'],
  ['a ready handler without a prototype', Object.assign(Object.create(null), ready), 'ready'],
  ['an instance of a class', new SendInvoice(), 'sent'],
  ['what handler() makes', handler(() => 'inline'), 'inline'],
  ['a factory', () => ready, 'ready'],
  [
    'a factory that is a function of its own',
    function make() {
      return ready;
    },
    'ready',
  ],
  ['an asynchronous factory', async () => new SendInvoice(), 'sent'],
  ['a factory of what is a promise in all but name', () => aThenable(ready), 'ready'],
  ['a factory of a function with a handle', () => Object.assign(() => {}, ready), 'ready'],
];

const neither: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['text', './send-invoice.js'],
  ['a number', 7],
  ['an empty object', {}],
  ['a list', []],
  ['an object whose handle is no function', { handle: true }],
  ['a class without handle', NoHandler],
  ['a class that inherits none', NoHandlerEither],
];

describe('an entry of the registry', () => {
  it.each(good)('can be queued: %s', (_, entry) => {
    expect(checkQueueable({ 'send-invoice': entry }, 'send-invoice')).toBe('send-invoice');
  });

  it.each(good)('resolves to a handler that runs: %s', async (_, entry, answer) => {
    const resolved = await resolveHandler({ 'send-invoice': entry }, 'send-invoice');
    expect(resolved.handle({}, null as never)).toBe(answer);
  });

  it.each(neither)('cannot be queued: %s', (_, entry) => {
    expect(refusal(() => checkQueueable({ 'send-invoice': entry }, 'send-invoice'))).toEqual({
      code: 'handler_invalid',
      message: 'Cannot queue "send-invoice": it does not implement Handler',
    });
  });

  it('is only looked at when a job is queued: nothing is built or called', () => {
    const built: string[] = [];
    class Counting {
      constructor() {
        built.push('class');
      }
      handle() {
        built.push('handle');
      }
    }
    const registry = {
      class: Counting,
      factory: () => built.push('factory'),
      lazy: async () => built.push('lazy'),
      ready: { handle: () => built.push('ready') },
    };
    for (const name of Object.keys(registry)) checkQueueable(registry, name);
    expect(built).toEqual([]);
  });

  it('is built anew for every attempt where it is a class or a factory', async () => {
    let made = 0;
    const registry = {
      class: SendInvoice,
      factory: () => {
        made += 1;
        return new SendInvoice();
      },
      ready,
    };
    expect(await resolveHandler(registry, 'class')).not.toBe(await resolveHandler(registry, 'class'));
    expect(await resolveHandler(registry, 'factory')).not.toBe(await resolveHandler(registry, 'factory'));
    expect(await resolveHandler(registry, 'ready')).toBe(ready);
    expect(made).toBe(2);
  });

  it('is called without arguments where it is a factory', async () => {
    let given: unknown[] | null = null;
    await resolveHandler(
      {
        a: (...args: unknown[]) => {
          given = args;
          return ready;
        },
      },
      'a',
    );
    expect(given).toEqual([]);
  });

  it('is built without arguments where it is a class', async () => {
    let given: unknown[] | null = null;
    class Given extends SendInvoice {
      constructor(...args: unknown[]) {
        super();
        given = args;
      }
    }
    await resolveHandler({ a: Given }, 'a');
    expect(given).toEqual([]);
  });

  it('may be a getter, which gives the entry of the moment', async () => {
    let entry: unknown = ready;
    const registry = {
      get a() {
        return entry;
      },
    };
    expect(await resolveHandler(registry, 'a')).toBe(ready);
    entry = { handle: () => 'other' };
    expect(await resolveHandler(registry, 'a')).toBe(entry);
  });
});

describe('a handler that cannot be found', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['empty text', ''],
    ['a number', 7],
    ['a class', SendInvoice],
    ['a symbol', Symbol('send-invoice')],
    ['text in an object', Object('send-invoice')],
    ['a list of one name', ['send-invoice']],
  ])('was not named: %s', (_, name) => {
    expect(refusal(() => checkQueueable({ 'send-invoice': ready }, name))).toEqual({
      code: 'handler_name_missing',
      message: 'A job needs a handler name',
    });
  });

  const unknown = [
    'send-invoise',
    'Send-Invoice',
    'send-invoice ',
    'constructor',
    '__proto__',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '../../x',
    'node:child_process',
  ];

  it.each(unknown)('is refused when it is queued: %s', (name) => {
    for (const registry of [{ 'send-invoice': ready }, defineHandlers({}), Object.create({ [name]: ready })]) {
      expect(refusal(() => checkQueueable(registry, name))).toEqual({
        code: 'handler_unknown',
        message: `Cannot queue "${name}": no handler is registered under it`,
      });
    }
  });

  it.each(unknown)('is an error of the attempt: %s', async (name) => {
    expect(await rejection(() => resolveHandler({ 'send-invoice': ready }, name))).toEqual({
      code: 'handler_unknown',
      message: `No handler "${name}": ${name} does not exist in the handler registry`,
    });
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'is found where just that name was registered: %s',
    async (name) => {
      const registry = Object.fromEntries([[name, ready]]);
      expect(checkQueueable(registry, name)).toBe(name);
      expect(await resolveHandler(registry, name)).toBe(ready);
    },
  );
});

describe('an entry that gives no handler', () => {
  class BrokenField {
    readonly handle = 'no function';
  }
  const anonymous = (() =>
    class {
      readonly handle = 1;
    })();
  class StaticName {
    static readonly name: unknown = { no: 'text' };
    readonly handle = 1;
  }

  it.each<[string, unknown, string]>([
    ['a class without handle', NoHandler, 'NoHandler does not implement Handler'],
    ['a class that inherits none', NoHandlerEither, 'NoHandlerEither does not implement Handler'],
    ['a class whose field is no function', BrokenField, 'BrokenField does not implement Handler'],
    ['an anonymous class', anonymous, 'An anonymous class does not implement Handler'],
    ['a class with an odd static name', StaticName, 'An anonymous class does not implement Handler'],
    ['a factory of nothing', () => undefined, 'handlers["send-invoice"] did not return a Handler'],
    ['a factory of null', () => null, 'handlers["send-invoice"] did not return a Handler'],
    ['a factory of a class', () => SendInvoice, 'handlers["send-invoice"] did not return a Handler'],
    ['a lazy factory of a module', async () => ({ SendInvoice }), 'handlers["send-invoice"] did not return a Handler'],
    ['a factory of text', () => 'handle', 'handlers["send-invoice"] did not return a Handler'],
    [
      'a bare function, meant as the handler itself',
      async () => {},
      'handlers["send-invoice"] did not return a Handler',
    ],
    ['text', './send-invoice.js', 'handlers["send-invoice"] (a string) does not implement Handler'],
    ['null', null, 'handlers["send-invoice"] (null) does not implement Handler'],
    ['an empty object', {}, 'handlers["send-invoice"] (an object) does not implement Handler'],
    ['a list', [ready], 'handlers["send-invoice"] (a list) does not implement Handler'],
  ])('is an error of the attempt: %s', async (_, entry, message) => {
    const expected: Refusal = { code: 'handler_invalid', message };
    expect(await rejection(() => resolveHandler({ 'send-invoice': entry }, 'send-invoice'))).toEqual(expected);
  });

  it.each<[string, unknown]>([
    [
      'a class',
      class {
        constructor() {
          throw new RangeError('no mailer');
        }
        handle() {}
      },
    ],
    [
      'a factory',
      () => {
        throw new RangeError('no mailer');
      },
    ],
    [
      'a lazy factory',
      async () => {
        throw new RangeError('no mailer');
      },
    ],
  ])('lets through what building it threw: %s', async (_, entry) => {
    await expect(resolveHandler({ a: entry }, 'a')).rejects.toThrow(new RangeError('no mailer'));
  });
});

describe('a declared job', () => {
  const registry = { resize: job<{ image: string }>() };

  it('can be queued', () => {
    expect(checkQueueable(registry, 'resize')).toBe('resize');
  });

  it('is unknown to a worker', async () => {
    expect(await rejection(() => resolveHandler(registry, 'resize'))).toEqual({
      code: 'handler_unknown',
      message: 'No handler "resize": resize does not exist in the handler registry',
    });
  });

  it('is recognised across two copies of core', async () => {
    const dist = new URL('../dist/handlers.js', import.meta.url).href;
    const other: typeof import('../src/handlers.js') = await import(/* @vite-ignore */ `${dist}?other`);
    expect(other.job).not.toBe(job);
    expect(checkQueueable({ resize: other.job() }, 'resize')).toBe('resize');
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(job())).toBe(true);
  });
});

describe('defineHandlers', () => {
  it('gives back the very registry it was given', () => {
    const registry = { 'send-invoice': SendInvoice };
    expect(defineHandlers(registry)).toBe(registry);
  });
});
