"""HTTP over the runs of one home: JSON, event streams, and the OpenAI shape.  Entry: `process.serve`."""
