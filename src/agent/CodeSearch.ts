/** Contract of searches that a model makes in the files of one revision. Patterns run in the thread of the change, never on the event loop. */
import type { Effect } from "effect"
import type { CheckoutError, RevisionSearch } from "../vcs/Checkout.ts"

/** Files of one revision as a model may read them. */
export interface SearchedFiles {
  readonly search: RevisionSearch
  /** Returns a text without its secrets; undefined if it is binary or too large. */
  readonly read: (path: string, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
  readonly isShown: (path: string) => boolean
}

/** The searched files: a folder or file (`""` is the root), and a glob over whole paths. */
export interface SearchScope {
  readonly under: string
  readonly glob: string | undefined
}

type HitKind = "definition" | "call" | "use"

export interface CodeHit {
  readonly line: number
  /** Cut around the match. */
  readonly text: string
  /** Undefined where no parser has read the file. */
  readonly kind?: HitKind | undefined
}

export interface FileHits {
  readonly path: string
  readonly hits: ReadonlyArray<CodeHit>
}

export interface CodeHits {
  readonly files: ReadonlyArray<FileHits>
  /** Whether a limit omits files or lines. */
  readonly more: boolean
}

export interface PatternRefused {
  readonly refused: string
}

export interface CodeSearch {
  /** Returns lines that the RE2 pattern matches. */
  readonly lines: (
    files: SearchedFiles,
    scope: SearchScope,
    pattern: { readonly text: string; readonly ignoreCase: boolean }
  ) => Effect.Effect<CodeHits | PatternRefused, CheckoutError>
  /** Returns lines in which the name is code: its definitions, calls and other uses. */
  readonly references: (
    files: SearchedFiles,
    scope: SearchScope,
    name: string
  ) => Effect.Effect<CodeHits, CheckoutError>
  readonly paths: (
    files: SearchedFiles,
    scope: SearchScope
  ) => Effect.Effect<{ readonly paths: ReadonlyArray<string>; readonly more: boolean }, CheckoutError>
}
