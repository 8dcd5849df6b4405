import type { Outline } from "./Definition.ts"

export interface OutlineIndex {
  readonly get: (key: string) => Outline | undefined
  readonly put: (key: string, outline: Outline) => void
  readonly close: () => void
}

/** Opens the index at a path whose folder exists. `version`: outlines of another one are removed. */
export declare const openOutlineIndex: (path: string, version: string, maxBytes?: number) => OutlineIndex
