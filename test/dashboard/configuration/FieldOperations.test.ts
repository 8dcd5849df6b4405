/** Operations of forms: only the fields that differ, and credentials that are kept, replaced or cleared. */
import { describe, expect, it } from "vitest"
import { operationsBetween } from "../../../src/dashboard/configuration/FieldOperations.ts"
import { mask } from "../../../src/dashboard/configuration/FieldValues.ts"

const entity = { kind: "triggers", name: "main" } as const
const set = (path: ReadonlyArray<string>, value: unknown) => ({ op: "set", entity, path, value })
const unset = (...path: ReadonlyArray<string>) => ({ op: "unset", entity, path })

describe("operations", () => {
  it.each([
    ["nothing", { a: 1, token: mask }, { token: mask, a: 1 }, []],
    ["a changed field", { a: 1, b: 2 }, { a: 3, b: 2 }, [set(["a"], 3)]],
    ["a new field", { a: 1 }, { a: 1, b: [1] }, [set(["b"], [1])]],
    ["a removed field", { a: 1, b: 2 }, { a: 1 }, [unset("b")]],
    ["a field of a group", { g: { a: 1, b: 2 } }, { g: { a: 1, b: 3 } }, [set(["g", "b"], 3)]],
    ["a group that is new", {}, { g: { a: 1 } }, [set(["g"], { a: 1 })]],
    ["a list as a whole", { l: ["a"] }, { l: ["a", "b"] }, [set(["l"], ["a", "b"])]],
    ["a credential that is replaced", { token: mask }, { token: "new" }, [set(["token"], "new")]],
    ["a credential that is cleared", { token: mask }, {}, [unset("token")]]
  ])("are made for %s", (_, before, after, expected) => {
    expect(operationsBetween(entity, before, after)).toEqual(expected)
  })

  it("replace the entity if a list with credentials changed, without the masks, and clear what was removed", () => {
    const before = {
      a: mask,
      l: [
        { alias: "one", token: mask },
        { alias: "two", token: mask }
      ]
    }
    const after = { a: mask, l: [{ alias: "two" }, { alias: "one", token: mask, ref: "main" }] }
    expect(operationsBetween(entity, before, after)).toEqual([
      {
        op: "update",
        entity,
        value: {
          l: [
            { alias: "two", token: null },
            { alias: "one", ref: "main" }
          ]
        }
      }
    ])
  })

  it("replace a model group, which is a list", () => {
    const group = { kind: "model_groups", name: "fast" } as const
    const value = [{ provider: "a", model: "b" }]
    expect(operationsBetween(group, [], value)).toEqual([{ op: "update", entity: group, value }])
  })
})
