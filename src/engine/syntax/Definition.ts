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

/** A definition of an outline, without text but for its name. */
export interface OutlinedDefinition {
  /** 1-based lines, both included. */
  readonly start: number
  readonly end: number
  /** Offsets of the definition, of its name, and the end of its header. */
  readonly from: number
  readonly to: number
  readonly nameFrom: number
  readonly nameTo: number
  readonly headerTo: number
  /** The name that other files may use; absent where it is too short or too common. */
  readonly name?: string
  /** The same for the same name in the same definitions. */
  readonly key: string
  /** The same for the same header. */
  readonly signature: string
  readonly isPublic: boolean
}

/** Definitions of a file, in its order, and uses of names in it: `line * 3 + kind` (`useKinds`). */
export interface Outline {
  readonly definitions: ReadonlyArray<OutlinedDefinition>
  readonly uses: ReadonlyMap<string, ReadonlyArray<number>>
  /** Places where it speaks to readers: marks of `Prose.js`. Null where they are uncertain. */
  readonly prose: ReadonlyArray<number> | null
}

/** Facts of a definition that a change of names is found by. */
export type ListedDefinition = Pick<OutlinedDefinition, "name" | "key" | "signature" | "isPublic">

/** Position of a definition and of its texts. */
export type DefinitionRange = Omit<OutlinedDefinition, "name" | "key" | "signature" | "isPublic" | "to">

/** Places where a file speaks to readers, in the same form, and the definitions around the offsets of the request. */
export interface ProseOfFile {
  readonly marks: ReadonlyArray<number> | null
  readonly around: ReadonlyArray<ReadonlyArray<DefinitionRange>>
}

/** An occurrence of a name as code, not in a comment or a text. */
export interface NameUse {
  readonly name: string
  /** 1-based. */
  readonly line: number
  readonly kind: "definition" | "call" | "use"
}

export type SyntaxTask =
  /** The definitions around each of the offsets of a file, outermost first. */
  | { readonly find: "around" }
  | { readonly find: "definitions" }
  /** Places where it speaks to readers, and the definitions around each of the offsets. */
  | { readonly find: "prose" }
  | { readonly find: "uses"; readonly names: ReadonlyArray<string> }
  /** Whether a file has a syntax error. Always needs the text. */
  | { readonly find: "errors" }

export interface SyntaxResults {
  readonly around: ReadonlyArray<ReadonlyArray<DefinitionRange>>
  readonly definitions: ReadonlyArray<ListedDefinition>
  readonly prose: ProseOfFile
  readonly uses: ReadonlyArray<NameUse>
  readonly errors: boolean
}
export type SyntaxResult = SyntaxResults[SyntaxTask["find"]]

/** A file by its content. */
export interface SyntaxFile {
  readonly grammar: Grammar
  /** The same only for the same content. */
  readonly key: string
  /** File of the outlines of its repository (`OutlineIndex.js`). */
  readonly index: string | undefined
  /** Absent where the thread may have the outline, so that the text need not be sent. */
  readonly text?: string
  /** Offsets in the text of which the definitions around them are requested. */
  readonly offsets?: ReadonlyArray<number> | undefined
}

export interface SyntaxQuestion {
  readonly id: number
  readonly files: ReadonlyArray<SyntaxFile>
  readonly task: SyntaxTask
  /** Maximum time to parse a file. */
  readonly millis: number
}

export interface SyntaxReply {
  readonly id: number
  /** Result of the task for each file: `unknown` where it needs the text, undefined where it cannot be parsed. */
  readonly found: ReadonlyArray<SyntaxResult | "unknown" | undefined>
}
