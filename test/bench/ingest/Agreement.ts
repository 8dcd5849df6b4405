/** Constants that sender and servers of the benchmark share. */
export const secret = "a secret of the benchmark"
export const repository = "Codertocat/Hello-World"
export const path = "/webhooks/github"
