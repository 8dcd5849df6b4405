/** Passes that are read a second time. */
import { describe, expect, it } from "vitest"
import { makeRepository } from "../../vcs/Repository.ts"
import { runEngine } from "../Fixture.ts"

const review = async (path: string, second_pass?: string) => {
  const repository = makeRepository()
  const base = repository.commit()
  repository.write(path, "export const a = 1\n")
  const head = repository.commit()
  const { briefs } = await runEngine({
    repository,
    base,
    head,
    review: second_pass === undefined ? {} : { second_pass }
  })
  return briefs.map(({ secondPass }) => secondPass)
}

describe("review.second_pass", () => {
  it("auto reads passes with a security-sensitive path a second time", async () => {
    expect(await review("src/auth/login.ts", "auto")).toEqual([true])
    expect(await review("src/list.ts", "auto")).toEqual([false])
    expect(await review("test/login.test.ts", "auto")).toEqual([false])
  })

  it("always reads all of them twice, and off, the default, none", async () => {
    expect(await review("src/list.ts", "always")).toEqual([true])
    expect(await review("src/auth/login.ts", "off")).toEqual([false])
    expect(await review("src/auth/login.ts")).toEqual([false])
  })
})
