/** Requests to the parsing thread and its responses. */
import type { Grammar } from "./Grammars.ts"

export interface Definition {
  /** Text from its first word to its body. */
  readonly header: string
  readonly name: string
  /** 1-based lines, both included. */
  readonly start: number
  readonly end: number
}

/** A definition among all of a file. */
export interface ListedDefinition extends Definition {
  /** Its first line of the file, with what is before its first word, such as `export`. */
  readonly firstLine: string
  /** Names of the definitions that it is in, outermost first. */
  readonly owners: ReadonlyArray<string>
}

/** An occurrence of a name as code, not in a comment or a text. */
export interface NameUse {
  readonly name: string
  /** 1-based. */
  readonly line: number
  readonly kind: "definition" | "call" | "use"
}

export type SyntaxTask =
  /** The definitions around each of these 1-based lines, outermost first. */
  | { readonly find: "around"; readonly lines: ReadonlyArray<number> }
  | { readonly find: "definitions" }
  | { readonly find: "uses"; readonly names: ReadonlyArray<string> }

export interface SyntaxResults {
  readonly around: ReadonlyArray<ReadonlyArray<Definition>>
  readonly definitions: ReadonlyArray<ListedDefinition>
  readonly uses: ReadonlyArray<NameUse>
}

export interface SyntaxQuestion {
  readonly id: number
  readonly grammar: Grammar
  readonly text: string
  readonly task: SyntaxTask
  /** Maximum time to parse a file. */
  readonly millis: number
}

export interface SyntaxReply {
  readonly id: number
  /** Result of the task; undefined where the file cannot be parsed. */
  readonly found: SyntaxResults[SyntaxTask["find"]] | undefined
}
