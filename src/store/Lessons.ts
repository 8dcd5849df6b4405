/**
 * Reflection memory: lessons per repository, bounded in number, size and age. What is over a bound goes when something is learnt, the
 * oldest first; what is too old is never answered.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Lesson } from "../domain/Lesson.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface LessonBounds {
  readonly maxEntries: number
  /** Of the texts of one repository's lessons. */
  readonly maxBytes: number
  readonly keepMillis: number
}

/** `repository` is `<trigger>:<repository>`, case-folded, as money is accounted. */
export class Lessons extends Context.Service<
  Lessons,
  {
    /**
     * Keeps lessons that are new, and the new verdict of those that are known; the same verdict again changes nothing. Answers how
     * many were kept or changed.
     */
    readonly learn: (
      repository: string,
      lessons: ReadonlyArray<Omit<Lesson, "learnedAt">>,
      bounds: LessonBounds,
      now: number
    ) => Effect.Effect<number, StoreError>
    /** Newest first, learnt after `since`. */
    readonly recall: (
      repository: string,
      since: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Lesson>, StoreError>
    /** Of each repository that has some. */
    readonly sizes: Effect.Effect<
      ReadonlyArray<{ readonly repository: string; readonly entries: number; readonly bytes: number }>,
      StoreError
    >
    /** Forgets everything of a repository, or everything. Answers how many. */
    readonly clear: (repository: string | undefined) => Effect.Effect<number, StoreError>
    /** Removes what has outlived the time that held when it was learnt. */
    readonly prune: (now: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Lessons") {}
