import type { Grammar } from "./Grammars.ts"

interface CollectedProse {
  readonly enter: (role: number, around: number, from: number, to: number) => void
  readonly marks: () => ReadonlyArray<number> | null
}

export declare const collectProse: (content: string, grammar: Grammar, hasError: boolean) => CollectedProse
