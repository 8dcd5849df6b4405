/**
 * Reflection memory: lessons per repository, limited in number, size and age. Learning removes what exceeds a limit, the oldest first;
 * lessons that are too old are never returned.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Lesson } from "../domain/Lesson.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface LessonBounds {
  readonly maxEntries: number
  /** Maximum bytes of the texts of one repository's lessons. */
  readonly maxBytes: number
  readonly keepMillis: number
}

/** Stores lessons. `repository` is `<trigger>:<repository>`, case-folded, the same key as for budgets. */
export class Lessons extends Context.Service<
  Lessons,
  {
    /**
     * Stores new lessons, and new verdicts of existing ones; the same verdict again changes nothing. Returns how many were stored or
     * changed.
     */
    readonly learn: (
      repository: string,
      lessons: ReadonlyArray<Omit<Lesson, "learnedAt">>,
      bounds: LessonBounds,
      now: number
    ) => Effect.Effect<number, StoreError>
    /** Returns the lessons learnt after `since`, newest first. */
    readonly recall: (
      repository: string,
      since: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Lesson>, StoreError>
    /** Returns the sizes of all repositories with lessons. */
    readonly sizes: Effect.Effect<
      ReadonlyArray<{ readonly repository: string; readonly entries: number; readonly bytes: number }>,
      StoreError
    >
    /** Removes the lessons of a repository, or all. Returns how many. */
    readonly clear: (repository: string | undefined) => Effect.Effect<number, StoreError>
    /** Removes lessons older than the retention time that applied when they were learnt. */
    readonly prune: (now: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Lessons") {}
