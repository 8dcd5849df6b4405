/** Names of a file that a change alters for others, in each language with a grammar. */
import { expect, it } from "vitest"
import { Effect } from "effect"
import { addedNames, changedNames } from "../../../src/engine/references/ChangedNames.ts"
import { definitionsIn } from "../../../src/engine/syntax/Definitions.ts"

const sides = async (path: string, before: string, after: string) => {
  const found = await Effect.runPromise(
    definitionsIn([before, after].map((text) => ({ path, text: Effect.succeed(text) })))
  )
  return { before: found[0] ?? [], after: found[1] ?? [] }
}

it.each([
  [
    "a.ts",
    "export function pay(a) {}\nfunction own(a) {}\n",
    "export function pay(b) {}\nfunction own(b) {}\n",
    "pay changed"
  ],
  [
    "a.ts",
    "export class A {\n  pay(a) {}\n  private own(a) {}\n}\n",
    "export class A {\n  pay() {}\n  private own() {}\n}\n",
    "pay changed"
  ],
  [
    "a.ts",
    "export const pay = (a) => 1\nexport const rest = () => 1\n",
    "export const rest = () => 2\n",
    "pay removed"
  ],
  ["a.js", "exports.pay = function (a) {}\n", "exports.pay = function (a, b) {}\n", "pay changed"],
  ["a.ts", "export function pay(a) {\n  const inner = (a) => a\n}\n", "export function pay(a) {\n}\n", ""],
  [
    "a.py",
    "def pay(a):\n  pass\ndef _own(a):\n  pass\nclass A:\n  def run_it(self):\n    pass\n",
    "def pay(a, b):\n  pass\ndef _own():\n  pass\nclass A:\n  def run_it(self, a):\n    pass\n",
    "pay changed, run_it changed"
  ],
  [
    "a.go",
    "package a\nfunc Pay(a int) {}\nfunc own(a int) {}\n",
    "package a\nfunc Pay() {}\nfunc own() {}\n",
    "Pay changed"
  ],
  [
    "A.java",
    "class A { public int pay(int a) { return 1; } private int own(int a) { return 1; } }\n",
    "class A { public int pay() { return 1; } private int own() { return 1; } }\n",
    "pay changed"
  ],
  ["a.rs", "pub fn pay(a: i32) {}\nfn own(a: i32) {}\n", "pub fn pay() {}\nfn own() {}\n", "pay changed"],
  [
    "a.c",
    "int pay(int a) { return 1; }\nstatic int own(int a) { return 1; }\n",
    "int pay(void) { return 1; }\nstatic int own(void) { return 1; }\n",
    "pay changed"
  ],
  [
    "A.cs",
    "class A { public int Pay(int a) { return 1; } private int Own(int a) { return 1; } }\n",
    "class A { public int Pay() { return 1; } private int Own() { return 1; } }\n",
    "Pay changed"
  ],
  ["a.ts", "export function pay(a) {}\n", "// moved by two lines\n\nexport function pay(\n  a\n) {}\n", "pay changed"],
  ["a.ts", "export function pay(a) {}\n", "\nexport function pay(a) { return 1 }\n", ""],
  ["a.ts", "export function ab(a) {}\nexport function main(a) {}\n", "", ""]
])("%s: %j", async (path, before, after, expected) => {
  const found = changedNames(await sides(path, before, after))
  expect(found.map(({ name, change }) => `${name} ${change}`).join(", ")).toBe(expected)
})

it("a name that another file defines now has moved", async () => {
  const from = await sides(
    "a.ts",
    "export function pay(a) {}\nexport function keep() {}\n",
    "export function keep() {}\n"
  )
  const to = await sides("b.ts", "", "export function pay(a) {}\n")
  expect(addedNames(to)).toEqual(["pay"])
  expect(addedNames(from)).toEqual([])
})
