//! The weather server as an AWS Lambda function, for requests to the host in the environment variable `HOST`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    let host = std::env::var("HOST")?;
    lambda_http::run(frameworks::lambda::server(&host)).await
}
