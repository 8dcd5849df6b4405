/** Bounds of listings: a conversation of 100,000 members is read, a larger one matches no one. */
import { Effect, Exit } from "effect"
import { expect, it } from "vitest"
import { maxPeople, readPages } from "../../../src/chat/members/DirectoryReader.ts"
import { makeWecomDirectory } from "../../../src/chat/wecom/Directory.ts"

const people = (count: number) => Array.from({ length: count }, (_, at) => ({ userid: `u${at}` }))

/** Lists people in pages of this size. */
const list = (count: number, pageSize: number) =>
  Effect.runPromiseExit(
    readPages("GET members", (token) => {
      const start = token === "" ? 0 : Number(token)
      const end = Math.min(count, start + pageSize)
      return Effect.succeed({ items: people(end - start), next: end < count ? String(end) : undefined })
    })
  )

const refusal = (exit: Exit.Exit<unknown, { readonly message: string }>) =>
  Exit.match(exit, { onSuccess: () => undefined, onFailure: (cause) => cause.reasons.map(({ _tag }) => _tag) })

it.each([100, maxPeople + 1])("%i people a page: 100,000 are listed, one more is refused", async (pageSize) => {
  const all = await list(maxPeople, pageSize)
  expect(Exit.isSuccess(all) ? all.value.length : all).toBe(maxPeople)
  expect(refusal(await list(maxPeople + 1, pageSize))).toEqual(["Fail"])
})

it("a page of any length is refused, and is no defect", async () => {
  expect(refusal(await list(500_000, 500_000))).toEqual(["Fail"])
})

const listDepartment = (userlist: ReadonlyArray<object>) => {
  const get = () => Effect.succeed({ userlist })
  const { listScope } = makeWecomDirectory({ get, post: get, check: Effect.void })
  return Effect.runPromiseExit(listScope({ kind: "wecom_department", id: "1", recursive: false }))
}

it("people of WeCom who are disabled or left are not listed", async () => {
  const active = await listDepartment([1, 2, 4, 5].map((status) => ({ userid: `u${status}`, status })))
  expect(Exit.isSuccess(active) ? [...active.value] : active).toEqual(["u1", "u4"])
})

it("a department of WeCom has at most 100,000 people", async () => {
  const all = await listDepartment(people(maxPeople))
  expect(Exit.isSuccess(all) ? all.value.size : all).toBe(maxPeople)
  expect(refusal(await listDepartment(people(maxPeople + 1)))).toEqual(["Fail"])
})
