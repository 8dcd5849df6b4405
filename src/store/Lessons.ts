/**
 * Reflection memory: lessons per repository, limited in number, size and age. Learning removes what exceeds a limit, the oldest first;
 * lessons that are too old are never returned. The table is `lessons`.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Lesson } from "../domain/Lesson.ts"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { corrupt, unavailable } from "../database/sql/StoreFailure.ts"

interface LessonBounds {
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
    /** Removes one lesson of a repository, if there is one with this fingerprint. */
    readonly remove: (repository: string, fingerprint: string) => Effect.Effect<void, StoreError>
    /** Removes lessons older than the retention time that applied when they were learnt. */
    readonly prune: (now: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Lessons") {}

const decode = Schema.decodeUnknownEffect(Schema.Array(Lesson.pipe(Schema.encodeKeys({ learnedAt: "learned_at" }))))

/** Truncates a text to the stored length and removes NUL, which databases refuse. */
const toStored = (text: string, maxLength: number): string => text.replaceAll("\u0000", "").slice(0, maxLength)

const lessonRow = (repository: string, lesson: Omit<Lesson, "learnedAt">, now: number, keepMillis: number) => {
  const texts = {
    category: toStored(lesson.category, 100),
    path: toStored(lesson.path, 1024),
    title: toStored(lesson.title, 300),
    quote: toStored(lesson.quote, 1000)
  }
  return {
    repository,
    fingerprint: lesson.fingerprint,
    verdict: lesson.verdict,
    severity: lesson.severity,
    ...texts,
    size: Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    learned_at: now,
    expires_at: now + keepMillis
  }
}

const learn = (sql: SqlClient.SqlClient): Lessons["Service"]["learn"] =>
  Effect.fnUntraced(
    function* (repository, lessons, { maxEntries, maxBytes, keepMillis }, now) {
      let changed = 0
      for (const lesson of lessons) {
        const rows = yield* sql`
          INSERT INTO lessons ${sql.insert(lessonRow(repository, lesson, now, keepMillis))}
          ON CONFLICT (repository, fingerprint) DO UPDATE SET
            verdict = excluded.verdict, learned_at = excluded.learned_at, expires_at = excluded.expires_at
          WHERE lessons.verdict <> excluded.verdict RETURNING fingerprint`
        changed += rows.length
      }
      if (changed === 0) return 0
      yield* sql`
        DELETE FROM lessons WHERE repository = ${repository} AND (
          learned_at <= ${now - keepMillis} OR fingerprint IN (
            SELECT fingerprint FROM (
              SELECT fingerprint,
                ROW_NUMBER() OVER (ORDER BY learned_at DESC, fingerprint) AS place,
                SUM(size) OVER (ORDER BY learned_at DESC, fingerprint) AS total
              FROM lessons WHERE repository = ${repository}) AS ranked
            WHERE place > ${maxEntries} OR total > ${maxBytes}))`
      return changed
    },
    sql.withTransaction,
    unavailable("lessons.learn")
  )

const recall = (sql: SqlClient.SqlClient): Lessons["Service"]["recall"] =>
  Effect.fnUntraced(function* (repository, since, limit) {
    const rows = yield* sql`
      SELECT fingerprint, verdict, category, severity, path, title, quote, learned_at FROM lessons
      WHERE repository = ${repository} AND learned_at > ${since}
      ORDER BY learned_at DESC, fingerprint LIMIT ${limit}`.pipe(unavailable("lessons.recall"))
    return yield* Effect.mapError(decode(rows), (error) => corrupt("lessons.recall", error))
  })

const sizes = (sql: SqlClient.SqlClient): Lessons["Service"]["sizes"] =>
  sql<{ repository: string; entries: number; bytes: number }>`
    SELECT repository, COUNT(*) AS entries, SUM(size) AS bytes FROM lessons GROUP BY repository ORDER BY repository`.pipe(
    Effect.map((rows) =>
      rows.map(({ repository, entries, bytes }) => ({
        repository,
        entries: Number(entries),
        bytes: Number(bytes)
      }))
    ),
    unavailable("lessons.sizes")
  )

const clear =
  (sql: SqlClient.SqlClient): Lessons["Service"]["clear"] =>
  (repository) =>
    Effect.map(
      repository === undefined
        ? sql`DELETE FROM lessons RETURNING fingerprint`
        : sql`DELETE FROM lessons WHERE repository = ${repository} RETURNING fingerprint`,
      (rows) => rows.length
    ).pipe(unavailable("lessons.clear"))

const remove =
  (sql: SqlClient.SqlClient): Lessons["Service"]["remove"] =>
  (repository, fingerprint) =>
    sql`DELETE FROM lessons WHERE repository = ${repository} AND fingerprint = ${fingerprint}`.pipe(
      unavailable("lessons.remove"),
      Effect.asVoid
    )

const prune =
  (sql: SqlClient.SqlClient): Lessons["Service"]["prune"] =>
  (now) =>
    deleteInSteps(
      (step) => sql`
        DELETE FROM lessons WHERE (repository, fingerprint) IN (
          SELECT repository, fingerprint FROM lessons WHERE expires_at <= ${now} LIMIT ${step})
        RETURNING fingerprint`
    ).pipe(unavailable("lessons.prune"))

export const layer: Layer.Layer<Lessons, never, SqlClient.SqlClient> = Layer.effect(
  Lessons,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Lessons.of({
      learn: learn(sql),
      recall: recall(sql),
      sizes: sizes(sql),
      clear: clear(sql),
      remove: remove(sql),
      prune: prune(sql)
    })
  )
)
