import { expect, it } from "vitest"
import { mix } from "./MixedOrder.ts"

it("lists are spread evenly over each other, and each keeps its order", () => {
  const [few, many] = [["a", "b"], [..."123456"]]
  expect(mix(few, many)).toEqual(["1", "a", "2", "3", "4", "b", "5", "6"])
  expect(mix([], ["1", "2"], ["a"])).toEqual(["1", "a", "2"])
  expect(mix(few)).toEqual(few)
})
