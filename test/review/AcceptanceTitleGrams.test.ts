/** Titles of the same and of other wording. */
import { describe, expect, it } from "vitest"
import { gramsOfTitle, haveSameWording } from "../../src/review/Acceptance.ts"

const same = (a: string, b: string): boolean | undefined => {
  const [one, other] = [gramsOfTitle(a), gramsOfTitle(b)]
  return one === undefined || other === undefined ? undefined : haveSameWording(one, other)
}

describe("titles", () => {
  it.each([
    ["Missing null check in `pay()`", "Null check missing in refundAll(order)"],
    ["Missing null check", "Missing null checks"],
    ["Unused import of `fs`", "Unused imports"],
    ["Magic number should be a named constant", "Magic numbers should be named constants"],
    ["缺少空值检查 `a1`", "空值检查缺少"],
    ["変数名が不明確", "不明確な変数名"]
  ])("have the same wording: %s, %s", (a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([true, true])
  })

  it.each([
    ["Missing null check", "Missing bounds check"],
    ["Unused import", "Unused variable"],
    ["SQL injection through the name", "Command injection through the path"],
    ["缺少空值检查", "资源没有关闭"],
    ["缺少空值检查", "缺少边界检查"]
  ])("have other wordings: %s, %s", (a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([false, false])
  })

  it.each(["`pay()`", "", "a in the", "x1 y2 z3", "refundAll(order)"])(
    "without words describe nothing: %j",
    (title) => {
      expect(gramsOfTitle(title)).toBeUndefined()
    }
  )
})
