"""Providers: everything that speaks to a model.  Entry: `provider.OpenAIModel`, wrapped in `retry.Retrying`.

The only importer of `openai`, and of nothing of ours but `core` and `errors`.
"""
