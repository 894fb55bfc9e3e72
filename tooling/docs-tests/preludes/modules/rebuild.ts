export class Rebuild {
  async handle({ parts }: { parts: readonly string[] }) {
    console.log(parts);
  }
}
