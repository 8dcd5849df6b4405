import { version } from "uuid"
import { assert, it } from "vitest"
import { newId, newIdAfter, parseIdTime } from "../../src/domain/Ids.ts"

it("ids are UUIDs of version 7 in lower case, of now, and each is greater than the one before", () => {
  const before = Date.now()
  const ids = Array.from({ length: 20_000 }, newId)
  const after = Date.now()
  const wrong = ids.filter((id, at) => {
    const made = parseIdTime(id) ?? 0
    return version(id) !== 7 || id !== id.toLowerCase() || made < before || made > after || id <= (ids[at - 1] ?? "")
  })
  assert.deepStrictEqual(wrong, [])
})

it("ids of the same millisecond differ in what is drawn at random, too", () => {
  const tails = Array.from({ length: 1000 }, () => newId().slice(-10))
  assert.strictEqual(new Set(tails).size, tails.length)
})

it("an id after another is greater, also when that was made by a clock that is ahead", () => {
  const ahead = "02a20369-1224-7fff-bfff-ffffffffffff"
  const id = newIdAfter(ahead)
  assert.isTrue(id > ahead, id)
  assert.strictEqual(version(id), 7)
  assert.strictEqual(parseIdTime(id), (parseIdTime(ahead) ?? 0) + 1)
})

it("a text that is no id has no time", () => {
  assert.isUndefined(parseIdTime("entry-1"))
})
