/** Links to pages of the service: valid ones, or none. */
import { expect, it } from "vitest"
import { runUrl } from "../../src/domain/RunLink.ts"

it.each([
  ["https://r.test", undefined, "https://r.test/dashboard/runs/1"],
  ["https://r.test/", "/aicr", "https://r.test/aicr/dashboard/runs/1"],
  ["https://r.test/aicr", "/aicr", "https://r.test/aicr/dashboard/runs/1"],
  ["https://r.test/aicr/", "/aicr/", "https://r.test/aicr/dashboard/runs/1"],
  ["https://r.test/my-aicr", "/aicr", "https://r.test/my-aicr/aicr/dashboard/runs/1"],
  [undefined, "/aicr", undefined]
])("base_url %s with prefix %s", (base_url, path_prefix, url) => {
  expect(runUrl({ base_url, path_prefix }, "1")).toBe(url)
})
