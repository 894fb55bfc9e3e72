import { parseSync, Visitor } from 'oxc-parser';

export interface Import {
  readonly name: string;
  readonly line: number;
  /** Whether it leaves no trace at run time. `import { type X } from 'y'` does leave one: y is still loaded. */
  readonly typeOnly: boolean;
}

/** Code that chooses other code at run time. */
interface DynamicCode {
  readonly line: number;
  /** As it is written: `import(…)`, `eval(…)`. */
  readonly written: string;
  /** Whether it loads a module of a computed name, which a few files may. */
  readonly loadsModule: boolean;
}

export interface FileImports {
  readonly imports: readonly Import[];
  readonly dynamicCode: readonly DynamicCode[];
  readonly syntaxErrors: readonly string[];
}

/** Callees that make code out of text, in `f(…)` and `new f(…)`. */
const TEXT_TO_CODE = new Set(['eval', 'Function']);

/** Everything that a TypeScript file takes from other modules, in every spelling the language has for it. */
export function readImports(fileName: string, text: string): FileImports {
  const { program, comments, errors } = parseSync(fileName, text);
  const imports: Import[] = [];
  const dynamicCode: DynamicCode[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;

  const fromStatement = (
    statement: { start: number },
    source: { value: string } | null,
    kind: 'type' | 'value' | undefined,
  ) => {
    if (source !== null) imports.push({ name: source.value, line: lineAt(statement.start), typeOnly: kind === 'type' });
  };
  const fromCall = (call: { start: number }, written: string, argument: Argument | undefined) => {
    const name = literal(argument);
    const line = lineAt(call.start);
    if (name === undefined) dynamicCode.push({ line, written, loadsModule: true });
    else imports.push({ name, line, typeOnly: false });
  };
  const fromCallee = (call: { start: number; arguments: readonly Argument[] }, callee: string | undefined) => {
    if (callee === 'require') fromCall(call, 'require(…)', call.arguments[0]);
    if (callee === 'getBuiltinModule') fromCall(call, 'getBuiltinModule(…)', call.arguments[0]);
    if (callee !== undefined && TEXT_TO_CODE.has(callee)) {
      dynamicCode.push({ line: lineAt(call.start), written: `${callee}(…)`, loadsModule: false });
    }
  };

  new Visitor({
    ImportDeclaration: (node) => fromStatement(node, node.source, node.importKind),
    ExportAllDeclaration: (node) => fromStatement(node, node.source, node.exportKind),
    ExportNamedDeclaration: (node) => fromStatement(node, node.source, node.exportKind),
    TSImportType: (node) => fromStatement(node, node.source, 'type'),
    TSImportEqualsDeclaration: (node) => {
      if (node.moduleReference.type === 'TSExternalModuleReference')
        fromStatement(node, node.moduleReference.expression, node.importKind);
    },
    ImportExpression: (node) => fromCall(node, 'import(…)', node.source),
    CallExpression: (node) => fromCallee(node, nameOf(node.callee)),
    NewExpression: (node) => fromCallee(node, nameOf(node.callee)),
  }).visit(program);

  for (const { value, start } of comments) {
    const reference = /^\/\s*<reference\s+types="([^"]+)"/.exec(value)?.[1];
    if (reference !== undefined) imports.push({ name: reference, line: lineAt(start), typeOnly: true });
  }
  return { imports, dynamicCode, syntaxErrors: errors.map(({ message }) => message) };
}

/** As much of a parsed expression as is looked at here. */
interface Argument {
  readonly type: string;
  readonly value?: unknown;
  readonly expressions?: readonly unknown[];
  readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
}

function literal(argument: Argument | undefined): string | undefined {
  if (typeof argument?.value === 'string') return argument.value;
  if (argument?.type === 'TemplateLiteral' && argument.expressions?.length === 0)
    return argument.quasis?.[0]?.value.cooked ?? undefined;
  return undefined;
}

/** `f` of `f(…)`, and of `globalThis.f(…)` or `process.f(…)`, which are the same function. */
function nameOf(callee: {
  readonly type: string;
  readonly name?: unknown;
  readonly property?: unknown;
  readonly object?: unknown;
}): string | undefined {
  const { type, name, property, object } = callee;
  if (type === 'Identifier' && typeof name === 'string') return name;
  const of = (object as { name?: unknown } | undefined)?.name;
  if (type === 'MemberExpression' && (of === 'globalThis' || of === 'process'))
    return (property as { name?: string }).name;
  return undefined;
}
