"""Write the golden files anew; the diff is what a reader of the change has to judge."""

from tests.prompts.scenes import GOLDEN, SCENES, rendered

if __name__ == "__main__":
    for scene in SCENES:
        (GOLDEN / f"{scene}.txt").write_text(rendered(scene) + "\n", encoding="utf-8")
