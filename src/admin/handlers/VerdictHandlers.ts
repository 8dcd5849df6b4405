/** Handles requests about signed statements and their keys. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { foldRepo } from "../../domain/Change.ts"
import type { VerdictStatement } from "../../domain/VerdictStatement.ts"
import { Runs } from "../../store/Runs.ts"
import { findStatement, listKeys } from "../../store/Statements.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { invalid, notFound } from "../api/Problems.ts"
import { CurrentReader } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"

interface Wanted {
  readonly run?: string
  readonly head?: string
  readonly repository?: string
  readonly number?: number
  readonly base?: string
}

const noStatement = notFound({ _tag: "NoStatement" })

/** Returns the head to search, and whether a statement about it is wanted. */
const selection = Effect.fnUntraced(function* ({ base, head, number, repository, run: id }: Wanted) {
  if (id !== undefined) {
    const of = (yield* (yield* Runs).get(id))?.head ?? head
    if (of === undefined) return yield* noStatement
    return { head: of, isWanted: ({ predicate }: VerdictStatement) => predicate.run === id }
  }
  if (head === undefined || repository === undefined)
    return yield* Effect.fail(invalid("run", { _tag: "StatementNeedsRunOrHead" }))
  const isWanted = ({ predicate }: VerdictStatement) =>
    foldRepo(predicate.repository) === foldRepo(repository) &&
    (number === undefined || predicate.target.number === number) &&
    (base === undefined || predicate.baseRef === base)
  return { head, isWanted }
})

const find = Effect.fnUntraced(function* (wanted: Wanted) {
  const { mayRead } = yield* CurrentReader
  const { head, isWanted } = yield* selection(wanted)
  const found = yield* findStatement(head, (statement) => isWanted(statement) && mayRead(statement))
  return found === undefined ? yield* noStatement : found.envelope
})

const keys = HttpApiBuilder.group(AdminHttpApi, "verdictKeys", (handlers) =>
  handlers.handleAll({
    list: () =>
      listKeys.pipe(
        Effect.map((found) => ({
          items: found.map((key, at) => ({ ...key, status: at === 0 ? ("present" as const) : ("retired" as const) }))
        })),
        orUnavailable
      )
  })
)

const statements = HttpApiBuilder.group(AdminHttpApi, "verdicts", (handlers) =>
  handlers.handleAll({ statement: ({ query }) => orUnavailable(find(query)) })
)

export const layer = Layer.merge(keys, statements)
