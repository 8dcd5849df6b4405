/** Changes that are remembered between their report and their review. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeRecent } from "../../../src/vcs/subversion/SvnRecent.ts"
import type { SvnSession } from "../../../src/vcs/subversion/SvnSession.ts"

// Only the address and the user of a session are read.
const session = (url = "https://svn.example/r", username = "ada") => ({ server: { url, username } }) as SvnSession

const change = (revision: string, more = false, path = "trunk/a.ts") => ({
  entry: { revision, author: "ada", message: "", paths: [{ path, action: "M" }], more },
  stream: { branch: "trunk", paths: [path], more: false, previous: "1", removed: false, tag: false }
})

it.effect("a change is found for a minute, for its server, user, branch and start", () =>
  Effect.gen(function* () {
    const recent = makeRecent()
    const made = change("2")
    yield* recent.remember(session(), made)
    const find = (at = session(), branch = "trunk", revision = "2", start = "1") =>
      Effect.map(recent.find(at, branch, revision, start), (found) => found !== undefined)
    yield* TestClock.adjust(59_999)
    assert.isTrue(yield* find())
    assert.isFalse(yield* find(session("https://other.example/r")))
    assert.isFalse(yield* find(session(undefined, "bob")))
    assert.isFalse(yield* find(session(), "branches/x"))
    assert.isFalse(yield* find(session(), "trunk", "3"))
    assert.isFalse(yield* find(session(), "trunk", "2", "0"))
    yield* TestClock.adjust(1)
    assert.isFalse(yield* find())
  })
)

it.effect("changes are kept in a bounded number and of a bounded size, and only whole ones", () =>
  Effect.gen(function* () {
    const recent = makeRecent()
    const isKept = Effect.fnUntraced(function* (made: ReturnType<typeof change>) {
      yield* recent.remember(session(), made)
      return (yield* recent.find(session(), "trunk", made.entry.revision, "1")) !== undefined
    })
    assert.isFalse(yield* isKept(change("2", true)))
    assert.isFalse(yield* isKept({ ...change("3"), stream: { ...change("3").stream, more: true } }))
    assert.isFalse(yield* isKept(change("4", false, "x".repeat(33_000))))
    assert.isTrue(yield* isKept(change("5", false, "x".repeat(32_000))))
    for (let revision = 6; revision < 205; revision++) assert.isTrue(yield* isKept(change(String(revision))))
    assert.isDefined(yield* recent.find(session(), "trunk", "5", "1"))
    assert.isTrue(yield* isKept(change("205")))
    assert.isUndefined(yield* recent.find(session(), "trunk", "5", "1"))
  })
)
