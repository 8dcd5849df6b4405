/** Hosts refuse a review for reasons that are not about a line: it is sent once all the same, or its problems are in the summary. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach } from "vitest"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { fault } from "../../harness/FakeForge.ts"
import { listSummaries } from "../../harness/Summaries.ts"
import { at, faultWorld } from "../FaultWorld.ts"

let stop: (() => Promise<void>) | undefined
afterEach(async () => {
  await stop?.()
  stop = undefined
})

const findings = [at(1, 20), at(2, 29), at(3, 30)]
const begin = (host: ForgeKind, channel: "gitea_pr_review" | "github_pr_review" | "gitlab_mr_review") =>
  Effect.promise(async () => {
    const made = await faultWorld({ host, channel: { kind: channel }, target: "pull_request" })
    ;({ stop } = made)
    return made
  })

const refusedBy = (message: string) =>
  fault.answered(422, {
    message: "Unprocessable Entity",
    errors: [message],
    documentation_url: "https://docs.github.com"
  })

const posts = (made: Effect.Success<ReturnType<typeof begin>>, path: RegExp) =>
  made.host.forge.writes().filter((request) => request.method === "POST" && path.test(request.path)).length

describe("a review that GitHub refuses", () => {
  const reviews = /\/pulls\/\d+\/reviews$/
  const writes = /^POST .*\/reviews$/

  it.effect("because it was submitted too quickly waits, and is sent once", () =>
    Effect.gen(function* () {
      const made = yield* begin("github", "github_pr_review")
      yield* Effect.gen(function* () {
        const { pull, review } = yield* made.begin
        made.host.forge.fail(writes, refusedBy("was submitted too quickly"), 3)
        const judged = yield* review(findings)
        assert.strictEqual(judged.run.status, "succeeded")
        assert.isFalse(judged.run.partial)
        assert.strictEqual(posts(made, reviews), 4)
        assert.deepStrictEqual(
          pull.reviews.map(({ comments }) => comments.length),
          [3]
        )
      }).pipe(Effect.provide(made.world))
    })
  )

  it.effect(
    "for ever because of a pending review is tried a few times; the summary has the problems, the run the reason",
    () =>
      Effect.gen(function* () {
        const made = yield* begin("github", "github_pr_review")
        yield* Effect.gen(function* () {
          const { pull, review } = yield* made.begin
          made.host.forge.fail(writes, refusedBy("User can only have one pending review per pull request"), 100)
          const judged = yield* review(findings)
          assert.isTrue(judged.run.partial)
          assert.include(judged.run.reason ?? "", "one pending review per pull request")
          // The summary with its comments, then the comments alone.
          assert.isAtMost(posts(made, reviews), 1 + 6)
          for (const n of [1, 2, 3]) assert.include(pull.comments[0]?.body ?? "", `Message ${n}`)
          assert.lengthOf(pull.comments, 1)
          assert.include(pull.comments[0]?.body, "The host refused these comments on their lines")
          assert.notInclude(pull.comments[0]?.body, "See the comments")
        }).pipe(Effect.provide(made.world))
      })
  )
})

it.effect("a summary has the comments that the host refused, and no others", () =>
  Effect.gen(function* () {
    const made = yield* begin("github", "github_pr_review")
    yield* Effect.gen(function* () {
      const { pull, review } = yield* made.begin
      yield* review(findings)
      assert.notInclude(listSummaries(pull)[0]?.body, "The host refused")
    }).pipe(Effect.provide(made.world))
    yield* Effect.gen(function* () {
      const { pull, review } = yield* made.begin
      made.host.forge.intercept(({ body, method, path }) =>
        method === "POST" && path.endsWith("/reviews") && JSON.stringify(body).includes("Message 2")
          ? refusedBy("line must be part of the diff")
          : undefined
      )
      yield* review(findings)
      const text = pull.comments[0]?.body
      assert.include(text, "**The host refused these comments on their lines:**")
      assert.include(text, "Message 2")
      assert.notInclude(text, "Message 3")
      // Its number refers to the list, which has its severity and its title.
      assert.match(text ?? "", /^- \*\*(\d)\*\* .* · Title 2 · [^]*^\*\*\1\*\* · `src\/a b\.txt`:29 · `\w+`$/m)
      assert.lengthOf(text?.match(/Medium\b.*\bTitle 2/g) ?? [], 1)
    }).pipe(Effect.provide(made.world))
  })
)

describe.each([
  ["gitea", "gitea_pr_review", /\/reviews$/],
  ["github", "github_pr_review", /\/reviews$/],
  ["gitlab", "gitlab_mr_review", /\/(draft_notes|bulk_publish)$/]
] as const)("a conflict of %s", (kind, channel, path) => {
  it.effect.each([409, 423])("%d, once, loses nothing", (status) =>
    Effect.gen(function* () {
      const made = yield* begin(kind, channel)
      yield* Effect.gen(function* () {
        const { pull, review } = yield* made.begin
        let times = 0
        made.host.forge.intercept((request) =>
          request.method === "POST" && path.test(request.path) && ++times === (kind === "gitlab" ? 2 : 1)
            ? fault.answered(status, { message: "locked" })
            : undefined
        )
        const judged = yield* review(findings)
        assert.strictEqual(judged.run.status, "succeeded")
        assert.isFalse(judged.run.partial)
        assert.lengthOf(
          pull.reviews.flatMap(({ comments }) => comments),
          3
        )
      }).pipe(Effect.provide(made.world))
    })
  )
})

describe("a summary that the host refuses", () => {
  it.effect.each([403, 404])("with %d, and nothing else, is named by the status and the run", (status) =>
    Effect.gen(function* () {
      const made = yield* begin("gitea", "gitea_pr_review")
      yield* Effect.gen(function* () {
        const { pull, review } = yield* made.begin
        made.host.forge.fail(/^POST .*\/issues\/\d+\/comments$/, fault.answered(status, { message: "blocked" }), 9)
        const { head, run } = yield* review(findings)
        assert.strictEqual(run.status, "succeeded")
        assert.isTrue(run.partial)
        assert.lengthOf(
          pull.reviews.flatMap(({ comments }) => comments),
          3
        )
        assert.deepInclude(made.host.forge.repository("team/shop").statuses.get(head)?.at(-1), {
          state: "success",
          description: "done; not all of it could be published"
        })
      }).pipe(Effect.provide(made.world))
    })
  )
})

describe.each([
  ["gitea", "gitea_pr_review", /^POST .*\/reviews$/],
  ["github", "github_pr_review", /^POST .*\/reviews$/],
  ["gitlab", "gitlab_mr_review", /^POST .*\/draft_notes$/]
] as const)("line comments that %s refuses", (kind, channel, path) => {
  it.effect.each([403, 404])("with %d are in the summary, which does not name the lines", (status) =>
    Effect.gen(function* () {
      const made = yield* begin(kind, channel)
      yield* Effect.gen(function* () {
        const { pull, review } = yield* made.begin
        made.host.forge.fail(path, fault.answered(status, { message: "blocked" }), 99)
        const { run } = yield* review(findings)
        assert.isTrue(run.partial)
        assert.include(run.reason ?? "", "blocked")
        assert.lengthOf(pull.comments, 1)
        for (const n of [1, 2, 3]) assert.include(pull.comments[0]?.body, `Message ${n}`)
        assert.include(pull.comments[0]?.body, "The host refused these comments on their lines")
        assert.notInclude(pull.comments[0]?.body, "See the comments")
      }).pipe(Effect.provide(made.world))
    })
  )
})
