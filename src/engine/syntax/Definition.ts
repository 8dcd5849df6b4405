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

export interface SyntaxQuestion {
  readonly id: number
  readonly grammar: Grammar
  readonly text: string
  /** 1-based. */
  readonly lines: ReadonlyArray<number>
  /** Maximum time to parse a file. */
  readonly millis: number
}

export interface SyntaxAnswer {
  readonly id: number
  /** Definitions around each line, outermost first; empty where they are unknown. */
  readonly chains: ReadonlyArray<ReadonlyArray<Definition>>
}
