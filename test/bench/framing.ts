/**
 * Reviews of changes with a planted vulnerability in a file of a security-sensitive path, whose author calls them safe in a title, a description, a
 * commit message, a comment, the name of a test or the title of an issue, in three languages, with a model that drops a fault once it has read that:
 * the share of the vulnerabilities that are published, blind and with `review.blind: off`, and what blind reading costs where nothing calls them safe.
 *
 * `AICR_BENCH_CHANGES` sets the number of changes.
 */
import { noFigures, reviewFramed } from "../engine/FramedChanges.ts"
import { printFigures } from "./PrintFigures.ts"

const changes = Number(process.env["AICR_BENCH_CHANGES"] ?? 100)

const shareOf = (part: number, whole: number): number => Number((whole === 0 ? 1 : part / whole).toFixed(4))

export const framing = {
  name: "framing",
  summary: "planted vulnerabilities that are published although the author calls the change safe, blind and not",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    let sum = noFigures
    for (let number = 0; number < changes; number++) {
      sum = await reviewFramed(number, sum)
      if ((number + 1) % 10 === 0) process.stderr.write(`${number + 1} of ${changes} changes\n`)
    }
    const figures = {
      changes: sum.changes,
      reviews: sum.reviews,
      published_share: shareOf(sum.published, sum.reviews),
      published_share_off: shareOf(sum.publishedBefore, sum.reviews),
      blind_prompts_equal: shareOf(sum.equal, sum.changes),
      tokens_ratio: shareOf(sum.tokens, sum.tokensBefore)
    }
    printFigures(figures, {})
    return figures
  }
}
