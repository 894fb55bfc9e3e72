/**
 * The statements of an SQL script, each with the comments before it and without its semicolon: for tools that take one
 * at a time. Knows the quotes and comments of the dialects q has drivers for, so that a semicolon in one ends nothing.
 */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let statement = '';
  let hasCode = false;
  for (const [token] of script.matchAll(TOKENS)) {
    if (token === ';') {
      if (hasCode) statements.push(statement.trim());
      statement = '';
      hasCode = false;
      continue;
    }
    statement += token;
    hasCode ||= !/^(?:\s|--|\/\*)/.test(token);
  }
  if (hasCode) statements.push(statement.trim());
  return statements;
}

// In this order: white space, comments, quoted text and names (a doubled quote is two of them side by side; MySQL's
// backslash may stand before a quote), then what is none of these, a character at a time where it could begin one.
const TOKENS = /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S])*'|"[^"]*"|`[^`]*`|;|[^\s;'"`/-]+|[\s\S]/g;
